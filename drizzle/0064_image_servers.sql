DROP INDEX `given_image_per_owner`;--> statement-breakpoint
ALTER TABLE `given_images` ADD `server_id` text DEFAULT '00000000-0000-7000-8000-000000000001' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `given_image_per_owner` ON `given_images` (`owner_id`,`reference`,`platform`,`server_id`);