CREATE TABLE `stacks` (
	`image` text PRIMARY KEY NOT NULL,
	`file` text NOT NULL,
	`texts` text NOT NULL,
	`services` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `projects` ADD `compose_file` text;--> statement-breakpoint
ALTER TABLE `projects` ADD `compose_service` text;