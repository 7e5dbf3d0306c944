import { z } from 'zod'
import * as resource from './admin-resources.ts'
import { does, listOf, lists, nothing, works } from '../web/operation.ts'
import type { Operations } from '../web/operation.ts'
import { auditEvent } from './resources.ts'

const { governedUser, cleanUpRun } = resource
const activities = listOf(resource.activity)
const grants = listOf(resource.grant)

/** Operations of admins on all users and on Docker. */
export const administration: Operations = {
  'GET /settings/users': does('List the users', resource.userList),
  'PUT /settings/users/:id': works('Disable, enable or promote a user', governedUser),
  'DELETE /settings/users/:id': works(
    'Delete a user; projects and services are transferred to another user or deleted',
    resource.userRemoval,
  ),
  'GET /settings/activity': does('List what is queued or running, of all users', activities),
  'POST /settings/activity/deployments/:id/cancel': works('Cancel a deployment', activities),
  'POST /settings/activity/environments/:id/cancel': works(
    'Cancel a start, restart or stop of an environment',
    activities,
  ),
  'POST /settings/activity/runs/:id/cancel': works('Cancel a run', activities),
  'POST /settings/activity/services/:id/cancel': works(
    'Cancel the start or change of a service',
    activities,
  ),
  'POST /settings/activity/clean-up/cancel': works('Cancel the clean-up', activities),
  'GET /settings/grants': does('List services with host access', grants),
  'PUT /settings/grants/:id': does('Revoke what a service may do to the host, or allow it', grants),
  'GET /settings/edge': does('Get how domains are served, and what isn’t served', resource.edge),
  'GET /settings/audit': lists('List audit events', auditEvent),
  'GET /settings/prune': does('Get what uses the disk', resource.diskOverview),
  'POST /settings/prune': {
    summary: 'Clean up Docker, or with dryRun list what would be removed',
    answers: { 200: z.union([cleanUpRun, resource.cleanUpPreview]), 202: cleanUpRun },
  },
  'GET /settings/prune/result': does(
    'Get the last clean-up, or nothing before the first',
    z.union([cleanUpRun, nothing]),
  ),
  'PUT /settings/prune/schedule': does('Schedule the daily clean-up', resource.cleanUpSchedule),
}
