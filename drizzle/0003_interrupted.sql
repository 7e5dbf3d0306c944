ALTER TABLE `deployments` ADD `told_provider` text;--> statement-breakpoint
ALTER TABLE `environments` ADD `deleting_at` integer;--> statement-breakpoint
ALTER TABLE `services` ADD `before` text;