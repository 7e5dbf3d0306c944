CREATE TABLE `links` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text NOT NULL,
	`service_id` text NOT NULL,
	`variables` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`service_id`) REFERENCES `services`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_link_per_service` ON `links` (`environment_id`,`service_id`);--> statement-breakpoint
CREATE INDEX `links_by_service` ON `links` (`service_id`);--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`started_by` text NOT NULL,
	`command` text NOT NULL,
	`timeout` integer NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`exit_code` integer,
	`error_message` text,
	`error_hint` text,
	`created_at` integer NOT NULL,
	`finished_at` integer,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `runs_by_environment` ON `runs` (`environment_id`,`id`);--> statement-breakpoint
ALTER TABLE `environments` ADD `processes` text DEFAULT '[{"name":"web","command":null,"replicas":1,"memoryMb":null,"cpus":null}]' NOT NULL;--> statement-breakpoint
ALTER TABLE `environments` ADD `release_command` text;--> statement-breakpoint
ALTER TABLE `environments` ADD `release_timeout` integer DEFAULT 600 NOT NULL;--> statement-breakpoint
ALTER TABLE `instances` ADD `slot` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `releases` ADD `settings` text;--> statement-breakpoint
ALTER TABLE `services` ADD `host` text;--> statement-breakpoint
CREATE UNIQUE INDEX `service_host_per_owner` ON `services` (`owner_id`,`host`);