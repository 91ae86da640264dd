// Code generated from schema.txt. DO NOT EDIT.

package service

// OrderFields are the fields of an order.
var OrderFields = []string{"ID", "Item"}
