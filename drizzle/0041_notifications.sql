CREATE TABLE `channels` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`events` text NOT NULL,
	`projects` text,
	`quiet` text,
	`zone` text DEFAULT 'UTC' NOT NULL,
	`url` text,
	`webhook_url` text,
	`secret` text,
	`token` text,
	`user_key` text,
	`password` text,
	`host` text,
	`port` integer,
	`security` text,
	`trust` text,
	`username` text,
	`from` text,
	`to` text,
	`topic` text,
	`chat` text,
	`room` text,
	`account_mail` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `channel_name_per_owner` ON `channels` (`owner_id`,`name`);--> statement-breakpoint
CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`level` text NOT NULL,
	`owner_id` text,
	`project_id` text,
	`environment_id` text,
	`service_id` text,
	`subject` text NOT NULL,
	`title` text NOT NULL,
	`text` text NOT NULL,
	`todo` text,
	`href` text NOT NULL,
	`of` text,
	`count` integer DEFAULT 1 NOT NULL,
	`last_at` integer NOT NULL,
	`ended_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`service_id`) REFERENCES `services`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `events_by_owner` ON `events` (`owner_id`,`id`);--> statement-breakpoint
CREATE INDEX `events_by_of` ON `events` (`of`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_open_event` ON `events` (`of`) WHERE ended_at IS NULL AND level <> 'resolved';--> statement-breakpoint
CREATE INDEX `events_by_project` ON `events` (`project_id`);--> statement-breakpoint
CREATE INDEX `events_by_environment` ON `events` (`environment_id`);--> statement-breakpoint
CREATE INDEX `events_by_service` ON `events` (`service_id`);--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`owner_id` text NOT NULL,
	`lane` text NOT NULL,
	`event_id` text,
	`channel_id` text,
	`subject_id` text,
	`status` text DEFAULT 'waiting' NOT NULL,
	`next_at` integer,
	`tries` integer DEFAULT 0 NOT NULL,
	`message_id` text,
	`uncertain` integer DEFAULT false NOT NULL,
	`left` text,
	`answer` text,
	`created_at` integer NOT NULL,
	`sent_at` integer,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`event_id`) REFERENCES `events`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`channel_id`) REFERENCES `channels`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `outbox_by_lane` ON `outbox` (`status`,`lane`,`kind`,`owner_id`,`next_at`);--> statement-breakpoint
CREATE INDEX `outbox_by_turn` ON `outbox` (`status`,`lane`,`id`);--> statement-breakpoint
CREATE INDEX `outbox_by_event` ON `outbox` (`event_id`);--> statement-breakpoint
CREATE INDEX `outbox_by_channel` ON `outbox` (`channel_id`,`id`);--> statement-breakpoint
CREATE INDEX `outbox_by_owner` ON `outbox` (`owner_id`);--> statement-breakpoint
CREATE INDEX `outbox_by_subject` ON `outbox` (`subject_id`);