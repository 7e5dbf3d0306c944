CREATE TABLE `access_cursor` (
	`id` integer PRIMARY KEY NOT NULL,
	`inode` text NOT NULL,
	`offset` integer NOT NULL,
	`head` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `traffic` (
	`series_id` integer NOT NULL,
	`span` integer NOT NULL,
	`time` integer NOT NULL,
	`requests` integer NOT NULL,
	`status1` integer NOT NULL,
	`status2` integer NOT NULL,
	`status3` integer NOT NULL,
	`status4` integer NOT NULL,
	`status5` integer NOT NULL,
	`received` integer NOT NULL,
	`sent` integer NOT NULL,
	`durations` blob NOT NULL,
	PRIMARY KEY(`series_id`, `span`, `time`),
	FOREIGN KEY (`series_id`) REFERENCES `traffic_series`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `traffic_by_time` ON `traffic` (`span`,`time`);--> statement-breakpoint
CREATE TABLE `traffic_series` (
	`id` integer PRIMARY KEY NOT NULL,
	`source_id` text NOT NULL,
	`key` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `traffic_series_by_source` ON `traffic_series` (`source_id`,`key`);