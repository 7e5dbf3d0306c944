CREATE TABLE `backup_plans` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`subject_kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`environment_id` text,
	`service_id` text,
	`target_id` text NOT NULL,
	`schedule` text NOT NULL,
	`zone` text DEFAULT 'UTC' NOT NULL,
	`keep_last` integer DEFAULT 0 NOT NULL,
	`keep_daily` integer DEFAULT 0 NOT NULL,
	`keep_weekly` integer DEFAULT 0 NOT NULL,
	`keep_monthly` integer DEFAULT 0 NOT NULL,
	`prove` text DEFAULT 'weekly' NOT NULL,
	`hold` text DEFAULT 'pause' NOT NULL,
	`next_at` integer,
	`due_at` integer,
	`problem` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`service_id`) REFERENCES `services`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `backup_plans_subjectId_unique` ON `backup_plans` (`subject_id`);--> statement-breakpoint
CREATE TABLE `backups` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`subject_kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`subject_name` text NOT NULL,
	`target_id` text NOT NULL,
	`started_by` text NOT NULL,
	`hold` text NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`error_code` text,
	`error_message` text,
	`error_hint` text,
	`bytes` integer,
	`added_bytes` integer,
	`files` text DEFAULT '[]' NOT NULL,
	`contents` text,
	`rows` integer,
	`checksum` text,
	`held` text,
	`proven_at` integer,
	`proven_seconds` integer,
	`proven_rows` integer,
	`proven_error` text,
	`gone_at` integer,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `backups_by_subject` ON `backups` (`subject_id`,`id`);--> statement-breakpoint
CREATE INDEX `backups_by_owner` ON `backups` (`owner_id`,`id`);--> statement-breakpoint
CREATE INDEX `backups_by_status` ON `backups` (`status`);--> statement-breakpoint
ALTER TABLE `jobs` ADD `after` text;