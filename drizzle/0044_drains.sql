CREATE TABLE `drains` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`requests` integer DEFAULT true NOT NULL,
	`host` text,
	`port` integer,
	`tls` integer,
	`url` text,
	`username` text,
	`password` text,
	`headers` text,
	`endpoint` text,
	`bucket` text,
	`region` text,
	`prefix` text,
	`access_key` text,
	`secret_key` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `drain_name_per_environment` ON `drains` (`environment_id`,`name`);