CREATE TABLE `clean_up_schedule` (
	`id` integer PRIMARY KEY NOT NULL,
	`enabled` integer NOT NULL,
	`what` text NOT NULL,
	`hour` integer NOT NULL,
	`threshold` integer NOT NULL,
	`last_run_at` integer,
	`last_outcome` text
);
