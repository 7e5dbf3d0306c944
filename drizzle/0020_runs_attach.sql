ALTER TABLE `runs` ADD `attach` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `runs` ADD `error_code` text;