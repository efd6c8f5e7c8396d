"""`none` on `pins` with different numbers of database connections: with one, transactions queue up and nothing is seen."""

from . import cells, load, plan

POOLS = (1, 10, 100)


def run(lab, quick):
    scenario = next(each for each in plan.SCENARIOS if each.name == "pins")
    cell = plan.Cell(scenario, lab.programs.strategies.named("none"), "off", 1)
    lines = []
    for pool in POOLS:
        # All of them wait for a connection, not in front of the service.
        fleet = lab.fleet(1, FESTA_DATABASE_CONNECTIONS=str(pool), FESTA_HTTP_MAX_IN_FLIGHT="400")
        pins = []
        for _ in range(3 if quick else 5):
            folder, log = lab.folder / "k6", lab.processes.logs / "k6-pools.log"
            variables = cells.variables(lab, fleet, cell, 1)
            done = load.finish(load.start(lab.programs.k6, scenario.script, folder, variables, log), folder, log)
            pins.append(lab.judge.judge("pins", done.subject, done.answers, "", sold_out=False).facts["sold"])
        print(f"- none with {pool} connection{'s' if pool > 1 else ''}: {pins} pins, 3 are allowed")
        lines.append({"pool": pool, "pins": pins, "limit": 3})
    return lines
