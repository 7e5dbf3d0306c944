CREATE TABLE `drain_cursors` (
	`drain_id` text PRIMARY KEY NOT NULL,
	`source_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`sent` integer DEFAULT 0 NOT NULL,
	`dropped` integer DEFAULT 0 NOT NULL,
	`unsaid` integer DEFAULT 0 NOT NULL,
	`sent_at` integer,
	`error` text,
	`hint` text,
	`failed_at` integer
);
