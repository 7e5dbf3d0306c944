CREATE TABLE `drain_traces` (
	`drain_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	PRIMARY KEY(`drain_id`, `deployment_id`),
	FOREIGN KEY (`drain_id`) REFERENCES `drains`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`deployment_id`) REFERENCES `deployments`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `drains` ADD `traces` integer DEFAULT false NOT NULL;