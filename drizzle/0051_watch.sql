ALTER TABLE `deployments` ADD `watch_until` integer;--> statement-breakpoint
ALTER TABLE `deployments` ADD `watch` text;--> statement-breakpoint
ALTER TABLE `environments` ADD `watch_seconds` integer;--> statement-breakpoint
ALTER TABLE `environments` ADD `rollback_on` text DEFAULT '["crash","health"]' NOT NULL;