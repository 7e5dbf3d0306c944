ALTER TABLE `environments` DROP COLUMN `domains`;--> statement-breakpoint
ALTER TABLE `services` DROP COLUMN `domains`;