ALTER TABLE `deployments` ADD `number` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `deployments` SET `number` = `counted`.`number` FROM (SELECT `id`, row_number() OVER (PARTITION BY `project_id` ORDER BY `id`) AS `number` FROM `deployments`) AS `counted` WHERE `counted`.`id` = `deployments`.`id`;--> statement-breakpoint
CREATE UNIQUE INDEX `deployment_number_per_project` ON `deployments` (`project_id`,`number`);
