CREATE TABLE `join_codes` (
	`id` text PRIMARY KEY NOT NULL,
	`code_hash` text NOT NULL,
	`name` text NOT NULL,
	`address` text,
	`roles` text NOT NULL,
	`labels` text NOT NULL,
	`private_key` text NOT NULL,
	`public_key` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `join_codes_codeHash_unique` ON `join_codes` (`code_hash`);--> statement-breakpoint
UPDATE `servers` SET `roles` = '["apps","builds","edge"]' WHERE `id` = '00000000-0000-7000-8000-000000000001';
