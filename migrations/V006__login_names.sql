-- Login names are compared in NFC, so they are stored in NFC. Where several accounts have spellings of one name, the one in NFC
-- keeps it, else the oldest gets it; the others keep their spelling and log in with exactly that.
DO $$
BEGIN
  IF getdatabaseencoding() <> 'UTF8' THEN RETURN; END IF;  -- PostgreSQL normalises UTF-8 only

  UPDATE users SET login = normalize(login, NFC)
  WHERE id IN (SELECT min(id) FROM users WHERE login IS NOT NFC NORMALIZED GROUP BY normalize(login, NFC))
    AND NOT EXISTS (SELECT 1 FROM users AS other WHERE other.login = normalize(users.login, NFC));

  UPDATE councils SET username = normalize(username, NFC)
  WHERE id IN (SELECT min(id) FROM councils WHERE username IS NOT NFC NORMALIZED GROUP BY normalize(username, NFC))
    AND NOT EXISTS (SELECT 1 FROM councils AS other WHERE other.username = normalize(councils.username, NFC));
END $$;
