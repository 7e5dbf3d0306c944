CREATE TABLE `output_blocks` (
	`id` integer PRIMARY KEY NOT NULL,
	`source_id` text NOT NULL,
	`first` integer NOT NULL,
	`last` integer NOT NULL,
	`first_time` integer NOT NULL,
	`last_time` integer NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE INDEX `output_blocks_by_source` ON `output_blocks` (`source_id`,`first`);--> statement-breakpoint
CREATE INDEX `output_blocks_by_time` ON `output_blocks` (`last_time`);--> statement-breakpoint
CREATE TABLE `output_cursors` (
	`container_id` text PRIMARY KEY NOT NULL,
	`source_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`name` text NOT NULL,
	`timestamp` text,
	`ordinal` integer DEFAULT 0 NOT NULL,
	`stream` text,
	`ended_at` integer
);
--> statement-breakpoint
CREATE TABLE `samples` (
	`container_id` text NOT NULL,
	`span` integer NOT NULL,
	`time` integer NOT NULL,
	`cpu` real NOT NULL,
	`memory` integer NOT NULL,
	`received` real NOT NULL,
	`sent` real NOT NULL,
	`read` real NOT NULL,
	`written` real NOT NULL,
	`pids` integer NOT NULL,
	PRIMARY KEY(`container_id`, `span`, `time`)
);
--> statement-breakpoint
CREATE INDEX `samples_by_time` ON `samples` (`span`,`time`);