ALTER TABLE `workloads` ADD `next_release_id` text;--> statement-breakpoint
INSERT INTO `workloads` (`id`, `environment_id`, `live_release_id`, `next_release_id`)
SELECT e.`id`, e.`id`,
  (SELECT max(d.`id`) FROM `deployments` d WHERE d.`environment_id` = e.`id` AND d.`status` IN ('running', 'stopped')),
  (SELECT max(d.`id`) FROM `deployments` d WHERE d.`environment_id` = e.`id` AND d.`status` = 'deploying' AND d.`container_id` IS NOT NULL)
FROM `environments` e
WHERE EXISTS (SELECT 1 FROM `deployments` d WHERE d.`environment_id` = e.`id` AND d.`container_id` IS NOT NULL);
--> statement-breakpoint
INSERT INTO `workloads` (`id`, `service_id`, `live_release_id`) SELECT `id`, `id`, `id` FROM `services`;
--> statement-breakpoint
INSERT INTO `releases` (`id`, `workload_id`, `created_at`)
SELECT `id`, `environment_id`, `created_at` FROM `deployments` WHERE `container_id` IS NOT NULL
UNION ALL SELECT `id`, `id`, `created_at` FROM `services`;
--> statement-breakpoint
INSERT OR IGNORE INTO `instances` (`id`, `release_id`, `workload_id`, `component`, `container_id`, `state`, `created_at`)
SELECT d.`id`, d.`id`, w.`id`, 'web', d.`container_id`,
  CASE d.`id`
    WHEN w.`next_release_id` THEN 'starting'
    WHEN w.`live_release_id` THEN CASE d.`status` WHEN 'running' THEN 'live' ELSE 'stopped' END
    ELSE 'removed'
  END,
  d.`created_at`
FROM `deployments` d JOIN `workloads` w ON w.`environment_id` = d.`environment_id`
WHERE d.`container_id` IS NOT NULL
ORDER BY d.`id` DESC;
--> statement-breakpoint
ALTER TABLE `deployments` DROP COLUMN `container_id`;