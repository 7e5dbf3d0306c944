CREATE TABLE `past_secrets` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text,
	`service_id` text,
	`value` text NOT NULL,
	`ended_at` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`service_id`) REFERENCES `services`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `past_secrets_by_environment` ON `past_secrets` (`environment_id`);--> statement-breakpoint
CREATE INDEX `past_secrets_by_service` ON `past_secrets` (`service_id`);