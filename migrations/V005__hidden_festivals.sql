-- A new festival is shown to users when somebody has decided so; those that exist stay as they are.
ALTER TABLE festivals ALTER COLUMN user_visible SET DEFAULT false;
