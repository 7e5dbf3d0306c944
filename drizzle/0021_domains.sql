CREATE TABLE `certificates` (
	`host` text PRIMARY KEY NOT NULL,
	`dns_found` text DEFAULT '[]' NOT NULL,
	`dns_ok` integer,
	`status` text DEFAULT 'waiting' NOT NULL,
	`issuer` text,
	`not_after` integer,
	`error_message` text,
	`error_hint` text,
	`checked_at` integer,
	`failures` integer DEFAULT 0 NOT NULL,
	`next_try_at` integer
);
--> statement-breakpoint
CREATE TABLE `domains` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text,
	`service_id` text,
	`position` integer NOT NULL,
	`host` text NOT NULL,
	`path` text DEFAULT '/' NOT NULL,
	`component` text,
	`port` integer,
	`redirect_to` text,
	`https` text DEFAULT 'auto' NOT NULL,
	`certificate` text,
	`certificate_key` text,
	`hsts` integer DEFAULT false NOT NULL,
	`accounts` text DEFAULT '[]' NOT NULL,
	`allow_ips` text DEFAULT '[]' NOT NULL,
	`headers` text DEFAULT '{}' NOT NULL,
	`max_body` integer,
	`maintenance` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`service_id`) REFERENCES `services`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_domain_per_place` ON `domains` (`host`,`path`);--> statement-breakpoint
CREATE INDEX `domains_by_environment` ON `domains` (`environment_id`,`position`);--> statement-breakpoint
CREATE INDEX `domains_by_service` ON `domains` (`service_id`,`position`);--> statement-breakpoint
ALTER TABLE `environments` ADD `port_set` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `environments` ADD `label` text;--> statement-breakpoint
ALTER TABLE `environments` ADD `drain_seconds` integer DEFAULT 30 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `environments_label_unique` ON `environments` (`label`);--> statement-breakpoint
ALTER TABLE `instances` ADD `port` integer;--> statement-breakpoint
ALTER TABLE `releases` ADD `edge` integer DEFAULT false NOT NULL;--> statement-breakpoint
INSERT OR IGNORE INTO `domains` (`id`, `environment_id`, `position`, `host`, `created_at`)
	SELECT printf('%s-%s-7%03x-8%03x-%s', substr(printf('%012x', CAST(unixepoch('subsec') * 1000 AS INTEGER)), 1, 8), substr(printf('%012x', CAST(unixepoch('subsec') * 1000 AS INTEGER)), 9), abs(random() % 4096), abs(random() % 4096), lower(hex(randomblob(6)))), t.id, e.key, lower(e.value), CAST(unixepoch('subsec') * 1000 AS INTEGER)
	FROM `environments` t, json_each(t.domains) e WHERE e.value NOT LIKE '*%' ORDER BY t.id, e.key;--> statement-breakpoint
INSERT OR IGNORE INTO `domains` (`id`, `service_id`, `position`, `host`, `created_at`)
	SELECT printf('%s-%s-7%03x-8%03x-%s', substr(printf('%012x', CAST(unixepoch('subsec') * 1000 AS INTEGER)), 1, 8), substr(printf('%012x', CAST(unixepoch('subsec') * 1000 AS INTEGER)), 9), abs(random() % 4096), abs(random() % 4096), lower(hex(randomblob(6)))), t.id, e.key, lower(e.value), CAST(unixepoch('subsec') * 1000 AS INTEGER)
	FROM `services` t, json_each(t.domains) e WHERE e.value NOT LIKE '*%' ORDER BY t.id, e.key;--> statement-breakpoint
UPDATE `environments` SET `port_set` = true WHERE `host_port` NOT BETWEEN 20000 AND 29999;