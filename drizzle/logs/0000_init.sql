CREATE TABLE `deployment_logs` (
	`deployment_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`time` integer NOT NULL,
	`stream` text NOT NULL,
	`text` text NOT NULL,
	PRIMARY KEY(`deployment_id`, `sequence`)
) WITHOUT ROWID;
