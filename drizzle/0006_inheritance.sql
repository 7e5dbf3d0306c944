ALTER TABLE `projects` ADD `webhook_outdated` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `deleting_at` integer;