CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`owner_id` text,
	`status` text DEFAULT 'waiting' NOT NULL,
	`slot` text,
	`attempt` integer DEFAULT 0 NOT NULL,
	`cancel_requested` integer DEFAULT false NOT NULL,
	`input` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `jobs_by_subject` ON `jobs` (`subject_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_running_job` ON `jobs` (`subject_id`) WHERE status = 'running';--> statement-breakpoint
INSERT INTO `jobs` (`id`, `kind`, `subject_id`, `owner_id`, `status`, `slot`, `attempt`, `cancel_requested`, `created_at`)
SELECT d.`id`, 'deploy', d.`environment_id`, p.`owner_id`, iif(d.`status` = 'pending', 'waiting', 'running'), iif(d.`image` IS NULL, 'build', NULL), d.`attempt`, d.`cancel_requested`, d.`created_at`
FROM `deployments` d JOIN `projects` p ON p.`id` = d.`project_id`
WHERE d.`status` IN ('pending', 'cloning', 'building', 'deploying');--> statement-breakpoint
INSERT INTO `jobs` (`id`, `kind`, `subject_id`, `owner_id`, `status`, `slot`, `attempt`, `created_at`)
SELECT substr(`id`, 1, 24) || lower(hex(randomblob(6))), iif(`before` IS NULL, 'start', 'change'), `id`, `owner_id`, 'running', 'service', 1, `created_at`
FROM `services` WHERE `status` IN ('pulling', 'creating', 'starting') AND `deleting_at` IS NULL;--> statement-breakpoint
ALTER TABLE `deployments` DROP COLUMN `attempt`;--> statement-breakpoint
ALTER TABLE `deployments` DROP COLUMN `cancel_requested`;