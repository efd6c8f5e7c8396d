#!/usr/bin/env python3
"""tokens.py: what `festabook token admin user1 user2 …` prints, as the file that the scripts of loadtest/ take."""
import base64
import json
import sys


def claims_of(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def main():
    admin, *users = sys.stdin.read().split()
    rows = [{"id": claims["uid"], "name": claims["sub"], "token": token}
            for claims, token in ((claims_of(token), token) for token in users)]
    json.dump({"admin": admin, "users": rows}, sys.stdout)


if __name__ == "__main__":
    main()
