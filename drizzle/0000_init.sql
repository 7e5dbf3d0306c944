CREATE TABLE `api_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`token_hash` text NOT NULL,
	`scopes` text NOT NULL,
	`last_used_at` integer,
	`expires_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_tokens_tokenHash_unique` ON `api_tokens` (`token_hash`);--> statement-breakpoint
CREATE INDEX `api_tokens_by_user` ON `api_tokens` (`user_id`);--> statement-breakpoint
CREATE TABLE `audit_events` (
	`id` text PRIMARY KEY NOT NULL,
	`actor_id` text,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`object_kind` text,
	`object_id` text,
	`object_name` text,
	`address` text,
	`details` text DEFAULT '{}' NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_by_actor` ON `audit_events` (`actor_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_action` ON `audit_events` (`action`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_object` ON `audit_events` (`object_id`,`id`);--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`provider` text NOT NULL,
	`delivery_id` text NOT NULL,
	`event` text NOT NULL,
	`ref` text,
	`commit_hash` text,
	`commit_message` text,
	`signature_ok` integer NOT NULL,
	`decision` text,
	`reason` text,
	`deployment_ids` text DEFAULT '[]' NOT NULL,
	`push` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `deliveries_by_project` ON `deliveries` (`project_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_delivery_per_project` ON `deliveries` (`project_id`,`provider`,`delivery_id`) WHERE signature_ok = 1;--> statement-breakpoint
CREATE TABLE `deployments` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`trigger` text NOT NULL,
	`triggered_by` text NOT NULL,
	`rollback_of` text,
	`repository_url` text NOT NULL,
	`branch` text,
	`requested_commit` text,
	`commit_hash` text,
	`commit_author` text,
	`commit_message` text,
	`image` text,
	`container_id` text,
	`url` text,
	`steps` text DEFAULT '[]' NOT NULL,
	`attempt` integer DEFAULT 0 NOT NULL,
	`cancel_requested` integer DEFAULT false NOT NULL,
	`error_step` text,
	`error_code` text,
	`error_message` text,
	`error_hint` text,
	`downtime_ms` integer,
	`created_at` integer NOT NULL,
	`finished_at` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `deployments_by_project` ON `deployments` (`project_id`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_by_environment` ON `deployments` (`environment_id`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_by_status` ON `deployments` (`status`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_active_deployment` ON `deployments` (`environment_id`) WHERE status IN ('cloning', 'building', 'deploying');--> statement-breakpoint
CREATE UNIQUE INDEX `one_running_deployment` ON `deployments` (`environment_id`) WHERE status = 'running';--> statement-breakpoint
CREATE TABLE `environments` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`name` text NOT NULL,
	`branch` text,
	`port` integer,
	`host_port` integer NOT NULL,
	`domains` text DEFAULT '[]' NOT NULL,
	`health_path` text,
	`health_timeout` integer DEFAULT 60 NOT NULL,
	`memory_mb` integer DEFAULT 512 NOT NULL,
	`cpus` real DEFAULT 1 NOT NULL,
	`auto_deploy` integer,
	`volumes` text DEFAULT '[]' NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `environments_hostPort_unique` ON `environments` (`host_port`);--> statement-breakpoint
CREATE UNIQUE INDEX `environment_name_per_project` ON `environments` (`project_id`,`name`);--> statement-breakpoint
CREATE TABLE `git_sources` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`provider` text NOT NULL,
	`name` text NOT NULL,
	`base_url` text NOT NULL,
	`access_token` text NOT NULL,
	`login` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `git_source_name_per_owner` ON `git_sources` (`owner_id`,`name`);--> statement-breakpoint
CREATE TABLE `identities` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`provider` text NOT NULL,
	`base_url` text NOT NULL,
	`provider_user_id` text NOT NULL,
	`login` text NOT NULL,
	`access_token` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_user_per_identity` ON `identities` (`provider`,`base_url`,`provider_user_id`);--> statement-breakpoint
CREATE INDEX `identities_by_user` ON `identities` (`user_id`);--> statement-breakpoint
CREATE TABLE `installation` (
	`id` text PRIMARY KEY NOT NULL,
	`key_check` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `invites` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invites_tokenHash_unique` ON `invites` (`token_hash`);--> statement-breakpoint
CREATE TABLE `login_failures` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`address` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `login_failures_by_email` ON `login_failures` (`email`,`created_at`);--> statement-breakpoint
CREATE INDEX `login_failures_by_address` ON `login_failures` (`address`,`created_at`);--> statement-breakpoint
CREATE TABLE `oauth_attempts` (
	`id` text PRIMARY KEY NOT NULL,
	`state_hash` text NOT NULL,
	`verifier` text NOT NULL,
	`user_id` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `oauth_attempts_stateHash_unique` ON `oauth_attempts` (`state_hash`);--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`owner_id` text NOT NULL,
	`name` text NOT NULL,
	`repository_url` text NOT NULL,
	`source_id` text,
	`repository` text,
	`webhook_id` text,
	`watch_paths` text DEFAULT '[]' NOT NULL,
	`deploy_key_public` text,
	`deploy_key_private` text,
	`branch` text,
	`dockerfile_path` text,
	`context_dir` text DEFAULT '.' NOT NULL,
	`build_args` text DEFAULT '{}' NOT NULL,
	`auto_deploy` integer DEFAULT true NOT NULL,
	`keep_images` integer DEFAULT 5 NOT NULL,
	`webhook_secret` text NOT NULL,
	`deleting_at` integer,
	`deleting_volumes` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`owner_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`source_id`) REFERENCES `git_sources`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `project_name_per_owner` ON `projects` (`owner_id`,`name`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`user_agent` text NOT NULL,
	`address` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_tokenHash_unique` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_by_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`password_hash` text,
	`role` text NOT NULL,
	`disabled_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);--> statement-breakpoint
CREATE TABLE `variables` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	`secret` integer DEFAULT false NOT NULL,
	`build_time` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `variable_key_per_environment` ON `variables` (`environment_id`,`key`);