CREATE TABLE `previews` (
	`environment_id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`number` integer NOT NULL,
	`title` text NOT NULL,
	`url` text NOT NULL,
	`ref` text NOT NULL,
	`head_commit` text NOT NULL,
	`is_fork` integer NOT NULL,
	`approved_commit` text,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `preview_number_per_project` ON `previews` (`project_id`,`number`);--> statement-breakpoint
ALTER TABLE `projects` ADD `previews` text;--> statement-breakpoint
ALTER TABLE `services` ADD `preview_id` text;