CREATE TABLE `instances` (
	`id` text PRIMARY KEY NOT NULL,
	`release_id` text NOT NULL,
	`workload_id` text NOT NULL,
	`component` text NOT NULL,
	`container_id` text,
	`network` text,
	`address` text,
	`state` text DEFAULT 'creating' NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`release_id`) REFERENCES `releases`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`workload_id`) REFERENCES `workloads`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `instances_containerId_unique` ON `instances` (`container_id`);--> statement-breakpoint
CREATE INDEX `instances_by_workload` ON `instances` (`workload_id`,`state`);--> statement-breakpoint
CREATE INDEX `instances_by_release` ON `instances` (`release_id`);--> statement-breakpoint
CREATE INDEX `instances_by_state` ON `instances` (`state`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_address_per_network` ON `instances` (`network`,`address`) WHERE address IS NOT NULL AND state <> 'removed';--> statement-breakpoint
CREATE TABLE `releases` (
	`id` text PRIMARY KEY NOT NULL,
	`workload_id` text NOT NULL,
	`components` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`workload_id`) REFERENCES `workloads`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `releases_by_workload` ON `releases` (`workload_id`,`id`);--> statement-breakpoint
CREATE TABLE `workloads` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text,
	`service_id` text,
	`live_release_id` text,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`service_id`) REFERENCES `services`(`id`) ON UPDATE no action ON DELETE cascade
);
