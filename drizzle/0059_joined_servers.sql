CREATE TABLE `servers` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`address` text NOT NULL,
	`roles` text DEFAULT '["apps"]' NOT NULL,
	`labels` text DEFAULT '{}' NOT NULL,
	`is_draining` integer DEFAULT false NOT NULL,
	`last_seen_at` integer,
	`node_id` text NOT NULL,
	`engine` text NOT NULL,
	`cpus` integer NOT NULL,
	`memory_mb` integer NOT NULL,
	`ssh` text,
	`host_key` text,
	`private_key` text,
	`has_begun_swarm` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `servers_name_unique` ON `servers` (`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `servers_address_unique` ON `servers` (`address`);