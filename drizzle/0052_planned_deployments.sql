CREATE TABLE `planned_deployments` (
	`environment_id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`version` text NOT NULL,
	`trigger` text NOT NULL,
	`planned_by` text NOT NULL,
	`problem` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `planned_deployments_by_time` ON `planned_deployments` (`at`);--> statement-breakpoint
ALTER TABLE `deployments` ADD `planned_at` integer;