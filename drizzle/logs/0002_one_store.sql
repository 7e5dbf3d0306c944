DROP INDEX `output_blocks_by_source`;--> statement-breakpoint
ALTER TABLE `output_blocks` ADD `log_id` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `output_blocks_by_log` ON `output_blocks` (`source_id`,`log_id`,`first`);--> statement-breakpoint
CREATE INDEX `output_blocks_by_job` ON `output_blocks` (`log_id`) WHERE log_id <> '';