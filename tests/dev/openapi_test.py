#!/usr/bin/python3
"""Compares the answers that the HTTP tests got with the OpenAPI document.

usage: openapi_test.py <record of tests/support/history/exchange_record.cc> <festabook>

The document is the one that was served; it has the version of the program. Every answer must be described: its status, content
type, headers and body, and the body of a request that succeeded. Every operation must have succeeded at least once. The document
keeps the rules of redocly's recommended set that apply to it. Then mistakes are planted in copies, and each must be found.
"""

import copy
import json
import subprocess
import sys
from urllib.parse import unquote

from jsonschema import Draft202012Validator

METHODS = ("get", "put", "post", "delete", "patch")
LONGEST_PATH = 1024  # longer ones are not routed
MOST_SHOWN = 20
PROBLEM = "application/problem+json"
PREFIX = "/api"  # ignored at the start of a path


class Document:
    def __init__(self, document):
        self.document = document
        self.validators = {}
        self.operations = {
            (method.upper(), path): item[method]
            for path, item in document["paths"].items() for method in METHODS if method in item
        }
        # Literal paths come before those with parameters.
        self.templates = sorted(document["paths"], key=lambda path: path.count("{"))

    def resolved(self, value):
        while "$ref" in value:
            target = self.document
            for key in value["$ref"].removeprefix("#/").split("/"):
                target = target[key.replace("~1", "/").replace("~0", "~")]
            value = target
        return value

    def template_of(self, path):
        segments = path.split("/")
        for template in self.templates:
            parts = template.split("/")
            if len(parts) == len(segments) and all(
                    segment if part.startswith("{") else part == segment for part, segment in zip(parts, segments)):
                return template
        return None

    def errors_in(self, value, schema):
        if id(schema) not in self.validators:
            # Beside the components, so that references find them.
            self.validators[id(schema)] = Draft202012Validator({**schema, "components": self.document["components"]})
        return [f"{error.json_path}: {error.message[:300]}" for error in self.validators[id(schema)].iter_errors(value)]


def media_type(content_type):
    return content_type.split(";")[0].strip().lower()


def errors_in_text(document, text, media, schema):
    if not media.endswith("json"):
        return document.errors_in(text, schema)
    try:
        value = json.loads(text)
    except ValueError as error:
        return [f"no JSON: {error}"]
    return document.errors_in(value, schema)


def errors_in_headers(document, headers, described):
    errors = []
    for name, header in described.items():
        header = document.resolved(header)
        value = headers.get(name.lower())
        if value is not None:
            errors += [f"header {name}: {error}" for error in document.errors_in(value, header["schema"])]
        elif header.get("required"):
            errors.append(f"no header {name}")
    return errors


def errors_in_answer(document, operation, record, headers):
    response = operation["responses"].get(str(record["status"]))
    if response is None:
        return ["this status is not described"]
    response = document.resolved(response)
    errors = errors_in_headers(document, headers, response.get("headers", {}))
    content = response.get("content")
    if record["method"] == "HEAD" or content is None:
        return errors + (["it has a body, and none is described"] if record["body"] else [])
    media = media_type(headers.get("content-type", ""))
    if media not in content:
        return errors + [f"the content type {media!r} is not described"]
    return errors + errors_in_text(document, record["body"], media, content[media]["schema"])


def errors_in_request(document, operation, record):
    """What the service accepted must be what the document asks for."""
    if "requestBody" not in operation or not 200 <= record["status"] < 300:
        return []
    content = operation["requestBody"]["content"]["application/json"]
    return [f"request: {error}" for error in errors_in_text(document, record["sent"], "application/json", content["schema"])]


def errors_elsewhere(document, record, headers, path, template):
    """Answers where no operation is."""
    if record["method"] == "OPTIONS" and record["status"] == 204:
        is_preflight = "access-control-max-age" in headers
        return ["no header Allow"] if template and "allow" not in headers or not template and not is_preflight else []
    if (record["method"], path, record["status"], record["body"]) == ("OPTIONS", "/*", 200, ""):
        return []  # Drogon's own answer for the server as a whole
    codes = {503: ("SHUTTING_DOWN", "OVERLOADED")}
    if len(path) > LONGEST_PATH:
        codes[400] = ("INVALID_PARAMETER",)
    if template:
        codes[405] = ("METHOD_NOT_ALLOWED",)
    else:
        codes[404] = ("ROUTE_NOT_FOUND",)
    if record["status"] not in codes:
        return ["nothing is described here"]
    if record["method"] == "HEAD":
        return []
    if record["status"] == 404 and media_type(headers.get("content-type", "")) == "text/html":
        return [] if "content-security-policy" in headers else ["a page without a policy"]
    errors = [] if media_type(headers.get("content-type", "")) == PROBLEM else ["no problem"]
    errors += errors_in_text(document, record["body"], PROBLEM, document.document["components"]["schemas"]["Problem"])
    if not errors and json.loads(record["body"])["code"] not in codes[record["status"]]:
        errors.append("another code is described here")
    return errors


def routed_path(sent):
    path = unquote(sent.split("?")[0].split("#")[0])
    return path[len(PREFIX):] or "/" if (path + "/").startswith(PREFIX + "/") else path


def complaints(document, records):
    """What is wrong with the answers, each said once."""
    document = Document(document)
    succeeded = set()
    seen = {}
    for record in records:
        headers = dict(record["headers"])
        path = routed_path(record["path"])
        template = document.template_of(path)
        method = "GET" if record["method"] == "HEAD" else record["method"]
        operation = document.operations.get((method, template))
        if operation and 200 <= record["status"] < 300:
            succeeded.add((method, template))
        # Ids and times differ, the rest is often the same.
        alike = json.dumps([record["method"], template or path, record["status"], record["body"], record.get("sent"),
                            sorted(name for name, _ in record["headers"])])
        if alike in seen:
            continue
        errors = (errors_in_answer(document, operation, record, headers) + errors_in_request(document, operation, record)
                  if operation else errors_elsewhere(document, record, headers, path, template))
        seen[alike] = [f"{record['method']} {record['path'][:100]} → {record['status']}: {error}: {record['body'][:200]}"
                       for error in errors]
    unseen = [f"{method} {path} never succeeded" for method, path in document.operations
              if (method, path) not in succeeded]
    return [text for texts in seen.values() for text in texts] + unseen


def walk(value, keys=()):
    yield keys, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from walk(item, keys + (key,))


def schemas_of(document):
    for keys, value in walk(document):
        if keys and keys[-1] == "schema" or keys[:2] == ("components", "schemas") and len(keys) == 3:
            yield keys, value


def flaws_of_schema(document, keys, schema):
    try:
        Draft202012Validator.check_schema(schema)
    except Exception as error:  # a SchemaError, or what a hopeless schema makes of it
        return [f"{'/'.join(map(str, keys))}: {error}"]
    return [f"{'/'.join(map(str, keys + inner))}: the example {example!r}: {error}"
            for inner, value in walk(schema) if isinstance(value, dict) and isinstance(value.get("examples"), list)
            for example in value["examples"] for error in document.errors_in(example, value)]


def flaws_of_operation(document, method, path, operation):
    name = f"{method} {path}"
    parameters = [document.resolved(parameter) for parameter in operation.get("parameters", [])]
    wanted = {part[1:-1] for part in path.split("/") if part.startswith("{")}
    flaws = []
    if not operation.get("summary"):
        flaws.append(f"{name}: no summary")
    if not any(status.startswith("4") for status in operation["responses"]):
        flaws.append(f"{name}: describes no mistake of a client")
    if {parameter["name"] for parameter in parameters if parameter["in"] == "path"} != wanted:
        flaws.append(f"{name}: its path has other parameters")
    if not set(operation["tags"]) <= {tag["name"] for tag in document.document["tags"]}:
        flaws.append(f"{name}: unknown tag")
    if not {"408", "431"} <= set(operation["responses"]):
        flaws.append(f"{name}: has no 408 or 431, which any request may get before it is read to its end")
    if operation["security"]:
        if not {"401", "403"} <= set(operation["responses"]):
            flaws.append(f"{name}: needs a token and has no 401 or 403")
        if method != "GET" and "Idempotency-Key" not in [parameter["name"] for parameter in parameters]:
            flaws.append(f"{name}: no Idempotency-Key")
    return flaws


def undefined_properties(raw):
    """A schema that requires a property says what it is."""
    return [f"{'/'.join(map(str, keys))}: requires {name!r} and does not define it"
            for keys, value in walk(raw) if isinstance(value, dict) and isinstance(value.get("required"), list)
            for name in value["required"] if name not in value.get("properties", {}) and "$ref" not in value]


def unused_components(raw):
    used = {value["$ref"] for _, value in walk(raw) if isinstance(value, dict) and "$ref" in value}
    return [f"components/{kind}/{name} is not used" for kind, parts in raw["components"].items() if kind != "securitySchemes"
            for name in parts if f"#/components/{kind}/{name}" not in used]


# The paths are those of festabook's clients; words are looked for before parameters, see route_table.cc.
KNOWN_TO_BE_AMBIGUOUS = {("/event-dates/{eventDateId}/events", "/event-dates/events/{id}"), ("/coupons/{id}/claims", "/coupons/claims/{claimId}")}


def ambiguous_paths(raw):
    """Pairs of paths that one request may fit, by words in each where the other has a parameter."""
    def overlap(one, other):
        parts = list(zip(one.split("/"), other.split("/")))
        differs = [(a.startswith("{"), b.startswith("{")) for a, b in parts if a != b]
        return one.count("/") == other.count("/") and all(a or b for a, b in differs) and (True, False) in differs and (False, True) in differs

    paths = list(raw["paths"])
    found = {(one, other) for i, one in enumerate(paths) for other in paths[i + 1:] if overlap(one, other)}
    return [f"{one} and {other} are ambiguous" for one, other in found
            if (one, other) not in KNOWN_TO_BE_AMBIGUOUS and (other, one) not in KNOWN_TO_BE_AMBIGUOUS]


def flaws(raw):
    """What is wrong with the document itself."""
    document = Document(raw)
    if not raw["info"].get("license", {}).get("name"):
        return ["info: no license"]
    for keys, value in walk(raw):
        if isinstance(value, dict) and "$ref" in value:
            try:
                document.resolved(value)
            except KeyError:
                return [f"{'/'.join(map(str, keys))}: {value['$ref']} leads nowhere"]
    found = [flaw for keys, schema in schemas_of(raw) for flaw in flaws_of_schema(document, keys, schema)]
    found += [flaw for (method, path), operation in document.operations.items()
              for flaw in flaws_of_operation(document, method, path, operation)]
    found += undefined_properties(raw) + unused_components(raw) + ambiguous_paths(raw)
    ids = [operation["operationId"] for operation in document.operations.values()]
    return found + [f"{name}: several operations" for name in set(ids) if ids.count(name) > 1]


def with_body(record, change):
    body = json.loads(record["body"])
    change(body)
    return {**record, "body": json.dumps(body)}


def without_header(record, name):
    return {**record, "headers": [header for header in record["headers"] if header[0] != name]}


def planted_answers(records):
    """Answers with a mistake each."""
    def first(method, path, status):
        return next(r for r in records if (r["method"], r["path"], r["status"]) == (method, path, status))

    made = first("POST", "/announcements", 201)
    refused = first("POST", "/announcements", 422)
    missing = next(r for r in records if r["status"] == 404 and "ROUTE_NOT_FOUND" in r["body"] and r["method"] == "GET")
    yield "a field too many", with_body(made, lambda body: body.update(internal=1))
    yield "a field too few", with_body(made, lambda body: body.pop("createdAt"))
    yield "a field of another type", with_body(made, lambda body: body.update(announcementId="1"))
    yield "a time with an offset", with_body(made, lambda body: body.update(createdAt=body["createdAt"] + "Z"))
    yield "no JSON", {**made, "body": made["body"][:-1]}
    yield "an undescribed status", {**made, "status": 202}
    yield "an undescribed content type", {**made, "headers": made["headers"] + [["content-type", "text/plain"]]}
    yield "no X-Request-Id", without_header(made, "x-request-id")
    yield "a request that should not be accepted", {**made, "sent": '{"title":"t"}'}
    yield "a body where none is described", {**made, "method": "DELETE", "path": "/announcements/1", "status": 204}
    yield "a code of other routes", with_body(refused, lambda body: body.update(code="COUPON_SOLD_OUT"))
    yield "a problem without its errors", with_body(refused, lambda body: body.pop("errors"))
    yield "meta where none belongs", with_body(refused, lambda body: body.update(meta={}))
    yield "a success at an unknown path", {**made, "path": "/nowhere"}
    yield "a success of an unknown method", {**made, "method": "PUT"}
    yield "OPTIONS of an unknown path", {**missing, "method": "OPTIONS", "status": 204, "body": ""}
    yield "another problem at an unknown path", with_body(missing, lambda body: body.update(code="FORBIDDEN"))


def planted_flaws(raw):
    """Documents with a mistake each."""
    def changed(change):
        document = copy.deepcopy(raw)
        change(document)
        return document

    schemas = ("components", "schemas")
    yield "a reference that leads nowhere", changed(lambda d: d[schemas[0]][schemas[1]].pop("Announcement"))
    yield "no schema", changed(lambda d: d[schemas[0]][schemas[1]]["Id"].update(type="number of sorts"))
    yield "an example that is none", changed(lambda d: d[schemas[0]][schemas[1]]["Id"].update(examples=[0]))
    yield "a path parameter too few", changed(lambda d: d["paths"]["/coupons/{id}"]["get"].pop("parameters"))
    yield "an operation without 431", changed(lambda d: d["paths"]["/coupons/{id}"]["get"]["responses"].pop("431"))
    yield "no license", changed(lambda d: d["info"].pop("license"))
    yield "an operation without a summary", changed(lambda d: d["paths"]["/coupons/{id}"]["get"].pop("summary"))
    yield "a required property that is not defined", changed(
        lambda d: d[schemas[0]][schemas[1]]["Problem"]["properties"].pop("code"))
    yield "an unused schema", changed(lambda d: d[schemas[0]][schemas[1]].update(Spare={"type": "string"}))
    yield "ambiguous paths", changed(lambda d: d["paths"].update({"/{any}/claims": d["paths"]["/coupons/{id}"]}))
    yield "a write without Idempotency-Key", changed(lambda d: d["paths"]["/coupons"]["post"].pop("parameters"))


def missed(raw, records):
    """Planted mistakes that this program does not find."""
    names = []
    for name, record in planted_answers(records):
        here = [text for text in complaints(raw, [record]) if not text.endswith(" never succeeded")]
        names += [] if here else [name]
    for name, document in planted_flaws(raw):
        names += [] if flaws(document) else [name]
    undescribed = copy.deepcopy(raw)
    del undescribed["paths"]["/coupons/{id}"]
    coupons = [record for record in records if record["path"].startswith("/coupons/")]
    if not any("nothing is described here" in text for text in complaints(undescribed, coupons)):
        names.append("a path that is not described")
    if "GET /coupons/{id} never succeeded" not in complaints(raw, []):
        names.append("an operation that was never seen")
    return names


def main(record_path, festabook):
    with open(record_path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    raw = next(json.loads(r["body"]) for r in records if (r["method"], r["path"], r["status"]) == ("GET", "/openapi.json", 200))
    version = subprocess.run([festabook, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    wrong = [] if raw["info"]["version"] == version else [f"the document is of version {raw['info']['version']}, the program {version}"]
    wrong = wrong or flaws(raw) or complaints(raw, records) or [f"planted and not found: {name}" for name in missed(raw, records)]
    for text in wrong[:MOST_SHOWN]:
        print(text, file=sys.stderr)
    if wrong:
        sys.exit(f"{len(wrong)} complaints about {len(records)} answers")
    print(f"{len(records)} answers are as {len(Document(raw).operations)} operations describe them")


if __name__ == "__main__":
    main(*sys.argv[1:])
