ALTER TABLE `deployments` ADD `ref_type` text;--> statement-breakpoint
ALTER TABLE `environments` ADD `tags` text;