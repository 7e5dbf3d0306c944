<?php

use App\Providers\RouteServiceProvider;
use Illuminate\Support\ServiceProvider;

return [
    'name' => 'Shop',
    'env' => 'production',
    'debug' => false,
    'key' => env('APP_KEY'),
    'timezone' => 'UTC',
    'locale' => 'en',
    'providers' => ServiceProvider::defaultProviders()->merge([RouteServiceProvider::class])->toArray(),
];
