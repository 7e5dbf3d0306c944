import type { ZodType, output } from 'zod'
import type { environment } from '../apps/json.ts'
import type { backup } from '../backups/json.ts'
import type { deployment } from '../deployments/json.ts'
import type { variable } from '../environments/json.ts'
import type { planned } from '../environments/planned.tsx'
import type { logLine, outputLine } from '../logs/json.ts'
import type { project } from '../projects/json.ts'
import type { run } from '../runs/json.ts'

/* What the API returns: the types of its own descriptions, of which nothing is loaded here. */

type OutputOf<Description extends () => ZodType> = output<ReturnType<Description>>

export type Project = OutputOf<typeof project>
export type AppEnvironment = OutputOf<typeof environment>
export type Deployment = OutputOf<typeof deployment>
export type Planned = OutputOf<typeof planned>
export type Variable = OutputOf<typeof variable>
export type LogLine = OutputOf<typeof logLine>
export type Backup = OutputOf<typeof backup>
export type Run = OutputOf<typeof run>
export type OutputLine = OutputOf<typeof outputLine>
