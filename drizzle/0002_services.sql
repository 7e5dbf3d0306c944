CREATE TABLE `registries` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`host` text NOT NULL,
	`username` text NOT NULL,
	`password` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `registry_host_per_owner` ON `registries` (`owner_id`,`host`);--> statement-breakpoint
CREATE TABLE `service_ports` (
	`port` integer PRIMARY KEY NOT NULL,
	`position` integer NOT NULL,
	`service_id` text NOT NULL,
	`target` text NOT NULL,
	`container_port` integer NOT NULL,
	`protocol` text NOT NULL,
	FOREIGN KEY (`service_id`) REFERENCES `services`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `services` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`name` text NOT NULL,
	`template` text NOT NULL,
	`version` text NOT NULL,
	`status` text DEFAULT 'pulling' NOT NULL,
	`compose` text NOT NULL,
	`values` text NOT NULL,
	`domains` text DEFAULT '[]' NOT NULL,
	`allowed` text DEFAULT '[]' NOT NULL,
	`error_step` text,
	`error_code` text,
	`error_message` text,
	`error_hint` text,
	`deleting_at` integer,
	`deleting_volumes` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `service_name_per_owner` ON `services` (`owner_id`,`name`);