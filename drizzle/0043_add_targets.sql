CREATE TABLE `targets` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`endpoint` text,
	`bucket` text,
	`region` text,
	`access_key` text,
	`secret_key` text,
	`host` text,
	`host_key` text,
	`user` text,
	`key` text,
	`path` text,
	`url` text,
	`user_password` text,
	`password` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `target_name_per_owner` ON `targets` (`owner_id`,`name`);