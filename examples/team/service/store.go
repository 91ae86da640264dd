// Package service keeps the orders.
package service

// Order is one of them.
type Order struct{ ID, Item string }
