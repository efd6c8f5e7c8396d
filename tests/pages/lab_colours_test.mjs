// The colours of lanes are told apart by everybody, in both themes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const css = readFileSync(new URL("../../controllers/pages/assets/lab.css", import.meta.url), "utf8");
const base = readFileSync(new URL("../../controllers/pages/assets/base.css", import.meta.url), "utf8");
const PATTERN = /--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g;
const themes = (text, place) => Object.fromEntries([...text.matchAll(PATTERN)].map((found) => [found[1], found[place]]));

const linear = (byte) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4);
const rgb = (hex) => [1, 3, 5].map((at) => linear(parseInt(hex.slice(at, at + 2), 16)));
const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, value, i) => sum + value * vector[i], 0));

// Complete loss of one kind of cones, by the model of Machado, Oliveira and Fernandes (2009), on linear RGB.
const EYES = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

// CIELAB, where a distance of some 2 is just noticed.
function lab(linearRgb) {
  const xyz = times([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], linearRgb.map((value) => Math.max(0, Math.min(1, value))));
  const [x, y, z] = [xyz[0] / 0.9505, xyz[1], xyz[2] / 1.089].map((value) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const distance = (a, b) => Math.hypot(...a.map((value, i) => value - b[i]));
const brightness = (hex) => times([[0.2126, 0.7152, 0.0722]], rgb(hex))[0];
const contrast = (a, b) => (Math.max(brightness(a), brightness(b)) + 0.05) / (Math.min(brightness(a), brightness(b)) + 0.05);

for (const [theme, place] of [["light", 2], ["dark", 3]]) {
  const all = themes(css, place);
  const lanes = Object.entries(all).filter(([name]) => name.startsWith("lane-"));
  const ground = themes(base, place).bg;

  test(`there are colours of all kinds and of four instances in the ${theme} theme`, () => {
    assert.deepEqual(lanes.map(([name]) => name.slice(5)), ["other", "wait", "hold", "work", "won", "over", "first", "second", "third", "fourth"]);
  });

  for (const [eyes, matrix] of Object.entries(EYES)) {
    test(`no two of them look alike in the ${theme} theme, ${eyes}`, () => {
      const seen = lanes.map(([name, hex]) => [name, lab(times(matrix, rgb(hex)))]);
      const near = seen.flatMap(([a, from], i) => seen.slice(i + 1).map(([b, to]) => [a, b, Math.round(distance(from, to))])).filter(([, , far]) => far < 15);
      assert.deepEqual(near, []);
    });
  }

  test(`what matters stands out from the ground in the ${theme} theme`, () => {
    const pale = lanes.filter(([name, hex]) => !["lane-other", "lane-wait", "lane-hold"].includes(name) && contrast(hex, ground) < 3);
    assert.deepEqual(pale, []);
    assert.ok(contrast(all["on-lane-work"], all["lane-work"]) >= 4.5);
  });
}
