CREATE TABLE `schedules` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text NOT NULL,
	`name` text NOT NULL,
	`command` text NOT NULL,
	`schedule` text NOT NULL,
	`zone` text DEFAULT 'UTC' NOT NULL,
	`overlap` text DEFAULT 'skip' NOT NULL,
	`missed` text DEFAULT 'skip' NOT NULL,
	`timeout` integer,
	`enabled` integer DEFAULT true NOT NULL,
	`file` text DEFAULT '' NOT NULL,
	`next_at` integer,
	`due_at` integer,
	`problem` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `schedules_by_next` ON `schedules` (`next_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `schedule_name_per_environment` ON `schedules` (`environment_id`,`file`,`name`);--> statement-breakpoint
ALTER TABLE `runs` ADD `schedule_id` text REFERENCES schedules(id) ON DELETE set null;--> statement-breakpoint
CREATE INDEX `runs_by_schedule` ON `runs` (`schedule_id`,`id`);