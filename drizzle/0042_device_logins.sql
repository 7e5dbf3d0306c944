CREATE TABLE `device_logins` (
	`id` text PRIMARY KEY NOT NULL,
	`secret_hash` text NOT NULL,
	`code_hash` text NOT NULL,
	`name` text NOT NULL,
	`network` text NOT NULL,
	`user_id` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `device_logins_secretHash_unique` ON `device_logins` (`secret_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `device_logins_codeHash_unique` ON `device_logins` (`code_hash`);