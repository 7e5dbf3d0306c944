ALTER TABLE `services` ADD `placement` text;--> statement-breakpoint
ALTER TABLE `workloads` ADD `pinned_to` text;--> statement-breakpoint
UPDATE `workloads` SET `pinned_to` = '00000000-0000-7000-8000-000000000001' WHERE `service_id` IS NOT NULL OR `environment_id` IN (
  SELECT `environments`.`id` FROM `environments` JOIN `projects` ON `projects`.`id` = `project_id`
  WHERE `volumes` <> '[]' OR `compose_file` IS NOT NULL
);
