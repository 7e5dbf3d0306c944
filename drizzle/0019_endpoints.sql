CREATE TABLE `endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`instance_id` text NOT NULL,
	`network` text NOT NULL,
	`address` text,
	`held` integer DEFAULT true NOT NULL,
	FOREIGN KEY (`instance_id`) REFERENCES `instances`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_endpoint_per_network` ON `endpoints` (`instance_id`,`network`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_holder_per_address` ON `endpoints` (`network`,`address`) WHERE address IS NOT NULL AND held = 1;--> statement-breakpoint
CREATE INDEX `endpoints_by_network` ON `endpoints` (`network`,`id`);--> statement-breakpoint
INSERT INTO `endpoints` (`id`, `instance_id`, `network`, `address`, `held`)
	SELECT `id`, `id`, `network`, `address`, `state` <> 'removed' FROM `instances` WHERE `network` IS NOT NULL;--> statement-breakpoint
DROP INDEX `instances_by_network`;--> statement-breakpoint
DROP INDEX `one_address_per_network`;--> statement-breakpoint
ALTER TABLE `instances` DROP COLUMN `network`;--> statement-breakpoint
ALTER TABLE `instances` DROP COLUMN `address`;