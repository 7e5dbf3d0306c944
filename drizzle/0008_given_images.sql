CREATE TABLE `given_images` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`reference` text NOT NULL,
	`platform` text DEFAULT '' NOT NULL,
	`digest` text NOT NULL,
	`name` text NOT NULL,
	`public_name` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `given_image_per_owner` ON `given_images` (`owner_id`,`reference`,`platform`);--> statement-breakpoint
CREATE TABLE `public_images` (
	`digest` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL
);
