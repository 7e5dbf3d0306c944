UPDATE `jobs` SET `input` = (SELECT 'before:' || `before` FROM `services` WHERE `services`.`id` = `jobs`.`subject_id`)
WHERE `kind` = 'change' AND `input` IS NULL;--> statement-breakpoint
ALTER TABLE `services` DROP COLUMN `before`;