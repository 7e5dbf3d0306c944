ALTER TABLE `deployments` ADD `pull_reference` text;--> statement-breakpoint
ALTER TABLE `deployments` ADD `pull_digest` text;--> statement-breakpoint
ALTER TABLE `projects` ADD `image` text;