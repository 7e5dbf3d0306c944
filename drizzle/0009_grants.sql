ALTER TABLE `services` ADD `allowed_by` text REFERENCES users(id) ON DELETE set null;--> statement-breakpoint
UPDATE `services` SET `allowed_by` = `owner_id` WHERE `allowed` <> '[]';
