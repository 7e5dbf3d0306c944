import { frameworkApps, smallApps } from './node-apps.ts'
import { testRealBuilds } from './real-builds.ts'

testRealBuilds([...smallApps, ...frameworkApps])
