ALTER TABLE `deployments` ADD `checks` text;--> statement-breakpoint
ALTER TABLE `deployments` ADD `wait_until` integer;--> statement-breakpoint
ALTER TABLE `environments` ADD `wait_for_checks` integer DEFAULT false NOT NULL;