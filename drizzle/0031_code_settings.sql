ALTER TABLE `deployments` ADD `code_settings` text;--> statement-breakpoint
ALTER TABLE `environments` ADD `code_settings` text;--> statement-breakpoint
ALTER TABLE `environments` ADD `own_settings` text DEFAULT '{}' NOT NULL;