import { z } from 'zod'
import { deployment } from '../deployments/json.ts'
import { componentOf, creates, does } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'

export const previewSettingsJson = componentOf('PreviewSettings', () => ({
  enabled: z.boolean(),
  max: z.int(),
  idleDays: z.int(),
  services: z.enum(['fresh', 'shared', 'none']),
  variables: z.array(z.string()),
  forks: z.enum(['never', 'approve']),
}))

export const operations: SliceOperations = () => ({
  Environments: {
    'GET /projects/:id/previews': does(
      'Get how pull requests get environments of their own',
      previewSettingsJson(),
    ),
    'PUT /projects/:id/previews': does('Change how they get them', previewSettingsJson()),
    'POST /projects/:id/envs/:envId/approve': creates(
      'Deploy a commit of a fork’s pull request',
      deployment(),
    ),
  },
})
