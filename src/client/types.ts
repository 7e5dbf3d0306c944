import type { ZodType, output } from 'zod'
import type { environment } from '../apps/json.ts'
import type { deployment } from '../deployments/json.ts'
import type { variable } from '../environments/json.ts'
import type { logLine, outputLine } from '../logs/json.ts'
import type { project } from '../projects/json.ts'
import type { run } from '../runs/json.ts'

/* What the API returns: the types of its own descriptions, of which nothing is loaded here. */

type Of<Description extends () => ZodType> = output<ReturnType<Description>>

export type Project = Of<typeof project>
export type AppEnvironment = Of<typeof environment>
export type Deployment = Of<typeof deployment>
export type Variable = Of<typeof variable>
export type LogLine = Of<typeof logLine>
export type Run = Of<typeof run>
export type OutputLine = Of<typeof outputLine>
