CREATE TABLE `freezes` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text NOT NULL,
	`from` integer NOT NULL,
	`until` integer NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `freezes_by_environment` ON `freezes` (`environment_id`,`from`);--> statement-breakpoint
CREATE INDEX `freezes_by_end` ON `freezes` (`until`);--> statement-breakpoint
ALTER TABLE `deployments` ADD `freeze` text;